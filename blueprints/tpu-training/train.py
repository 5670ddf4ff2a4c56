"""Sums an array over all chips of all slices, repeatedly.

It is a stand-in for a training: it starts on every host of every slice at once,
uses all chips, and logs how fast the chips exchange data. A step takes at least ten
seconds, so the job takes about half an hour. All hosts perform the same number of
steps: a host that stopped alone would leave the others waiting.
"""

import argparse
import os
import time

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

ELEMENTS = 1 << 24  # of each chip


def main():
    parser = argparse.ArgumentParser(description="Sums an array over all chips of all slices.")
    parser.add_argument("--steps", type=int, default=180)
    parser.add_argument("--step-seconds", type=float, default=10.0, help="minimum seconds per step")
    args = parser.parse_args()

    # GKE sets the variables that tell each host its number and the first host.
    jax.distributed.initialize()
    chips = jax.devices()
    slices = {getattr(chip, "slice_index", 0) for chip in chips}
    first = jax.process_index() == 0
    print(f"host {jax.process_index()} of {jax.process_count()}: {jax.local_device_count()} of {len(chips)} chips, {len(slices)} slices", flush=True)

    logs = None
    if first and "LOGS" in os.environ:
        from tensorboardX import SummaryWriter

        logs = SummaryWriter(os.environ["LOGS"])

    mesh = Mesh(chips, "chip")
    parts = NamedSharding(mesh, PartitionSpec("chip"))
    make = jax.jit(lambda: jnp.ones((len(chips), ELEMENTS), jnp.float32), out_shardings=parts)
    add = jax.jit(lambda x: x.sum(axis=0), out_shardings=NamedSharding(mesh, PartitionSpec()))

    x = make()
    total = add(x).block_until_ready()  # the first call compiles
    if float(total[0]) != len(chips):
        raise SystemExit(f"{len(chips)} chips add up to {float(total[0])}")
    for step in range(args.steps):
        begin = time.monotonic()
        add(x).block_until_ready()
        gigabytes = ELEMENTS * 4 / 1e9 / (time.monotonic() - begin)
        if logs:
            logs.add_scalar("gigabytes_a_second", gigabytes, step)
        if first and step % 10 == 0:
            print(f"step {step}/{args.steps}: {gigabytes:.1f} GB/s", flush=True)
        time.sleep(max(0.0, args.step_seconds - (time.monotonic() - begin)))
    if logs:
        logs.close()


if __name__ == "__main__":
    main()
