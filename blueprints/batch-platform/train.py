"""Trains a small network on MNIST with DistributedDataParallel.

The first process downloads MNIST and sends it to the others. If the download fails,
all train on synthetic data of the same size, and the log says so. A training takes
at least 25 minutes, runs with or without GPUs, and handles eviction. Run it under
torchrun, which sets RANK, LOCAL_RANK, WORLD_SIZE and the address of the rendezvous.

If CHECKPOINT_DIR is a folder that outlives the pod, an evicted training resumes
from its last checkpoint. Only the first process uses the folder. Each training
needs a folder of its own.
"""

import argparse
import os
import signal
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

EVICTED = 128 + signal.SIGTERM  # the exit code of a process that SIGTERM ends
SAMPLES, PIXELS, DIGITS = 60_000, 28 * 28, 10  # the training set of MNIST


class TooSlow(Exception):
    """The download exceeds its time limit."""


def mnist(seconds):
    """Downloads MNIST within the time limit, and returns its images and labels."""

    def stop(*_):
        raise TooSlow(f"no data after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        # In the image pytorch/pytorch. It compares each file with a checksum.
        from torchvision.datasets import MNIST

        MNIST.mirrors = [mirror for mirror in MNIST.mirrors if mirror.startswith("https:")]
        with tempfile.TemporaryDirectory() as folder:
            data = MNIST(folder, download=True)
        return data.data.reshape(SAMPLES, PIXELS), data.targets
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def synthetic():
    """Returns images and labels as of MNIST: the brightest of the first pixels is the label."""
    images = torch.randint(256, (SAMPLES, PIXELS), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    return images, images[:, :DIGITS].float().argmax(dim=1)


def load_data(device, seconds):
    """Returns the same images and labels in every process."""
    images = torch.empty(SAMPLES, PIXELS, dtype=torch.uint8)
    labels = torch.empty(SAMPLES, dtype=torch.int64)
    if dist.get_rank() == 0:
        try:
            images, labels = mnist(seconds)
            print("training on MNIST", flush=True)
        except Exception as error:  # of the network, the disk or torchvision
            print(f"training on synthetic data, because MNIST cannot be downloaded: {error}", flush=True)
            images, labels = synthetic()
    images, labels = images.to(device), labels.to(device)
    dist.broadcast(images, src=0)
    dist.broadcast(labels, src=0)
    return images, labels


def batch(data, step, size):
    """Returns inputs and targets that depend only on the data, the step and the process."""
    images, labels = data
    generator = torch.Generator().manual_seed(step * dist.get_world_size() + dist.get_rank())
    chosen = torch.randint(SAMPLES, (size,), generator=generator).to(images.device)
    return images[chosen].float() / 255, labels[chosen]


def load(model, path):
    """Restores the model in the first process and returns the next step."""
    if not path or not os.path.exists(path):
        return 0
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(checkpoint["model"])
    return checkpoint["step"]


def save(model, step, path):
    """Writes a checkpoint atomically, in the first process."""
    if not path or dist.get_rank() != 0:
        return
    torch.save({"step": step, "model": model.state_dict()}, path + ".new")
    os.replace(path + ".new", path)


def train(args, device, path):
    """Trains and returns the exit code."""
    # Plain SGD has no state of its own, so the checkpoint holds only the model.
    model = nn.Sequential(nn.Linear(PIXELS, 256), nn.ReLU(), nn.Linear(256, DIGITS)).to(device)
    start = torch.tensor(load(model, path) if dist.get_rank() == 0 else 0, device=device)
    dist.broadcast(start, src=0)
    start = int(start.item())
    parallel = DistributedDataParallel(model)  # starts from the first process's model
    optimizer = torch.optim.SGD(parallel.parameters(), lr=args.learning_rate)
    data = load_data(device, args.download_seconds)

    evicted = []
    signal.signal(signal.SIGTERM, lambda *_: evicted.append(True))
    losses = []
    for step in range(start, args.epochs * args.steps):
        began = time.monotonic()
        inputs, targets = batch(data, step, args.batch_size)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(parallel(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

        # All processes stop at the same step: a process that continued alone
        # would wait for the others forever.
        stop = torch.tensor(1 if evicted else 0, device=device)
        dist.all_reduce(stop, op=dist.ReduceOp.MAX)
        if stop.item():
            save(model, step + 1, path)
            return EVICTED

        if (step + 1) % args.steps == 0:
            if dist.get_rank() == 0:
                print(f"epoch {(step + 1) // args.steps}/{args.epochs}: loss {sum(losses) / len(losses):.4f}", flush=True)
            losses.clear()
            save(model, step + 1, path)
        time.sleep(max(0.0, args.step_seconds - (time.monotonic() - began)))
    return 0


def main():
    parser = argparse.ArgumentParser(description="Trains a small network on MNIST.")
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--steps", type=int, default=300, help="steps in an epoch")
    parser.add_argument("--step-seconds", type=float, default=0.1, help="minimum seconds per step")
    parser.add_argument("--batch-size", type=int, default=256, help="samples per step in each process")
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--download-seconds", type=int, default=120, help="longest time to download MNIST")
    args = parser.parse_args()

    device, backend = torch.device("cpu"), "gloo"
    if torch.cuda.is_available():
        device, backend = torch.device("cuda", int(os.environ["LOCAL_RANK"])), "nccl"
        torch.cuda.set_device(device)
    dist.init_process_group(backend)
    if dist.get_rank() == 0:
        print(f"{dist.get_world_size()} processes on {device.type}", flush=True)
    folder = os.environ.get("CHECKPOINT_DIR")
    code = train(args, device, os.path.join(folder, "checkpoint.pt") if folder else None)
    dist.destroy_process_group()
    sys.exit(code)


if __name__ == "__main__":
    main()
