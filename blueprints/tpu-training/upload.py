"""Uploads the logs of a training to the Vertex AI TensorBoard until it is stopped.

It looks for new logs again and again, so the curves grow while the training runs. Each
RUN is an experiment of its own; a RUN that starts again goes on in the same experiment.
JobSet stops the uploader when the training has ended.
"""

import os
import signal
import threading

from google.cloud import aiplatform


def main():
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    # The value is projects/PROJECT/locations/REGION/tensorboards/ID.
    _, project, _, region, _, board = os.environ["TENSORBOARD"].split("/")
    aiplatform.init(project=project, location=region)
    aiplatform.start_upload_tb_log(
        tensorboard_id=board,
        tensorboard_experiment_name=os.environ["RUN"],
        logdir=os.environ["LOGS"],
    )
    try:
        stop.wait()
    finally:
        aiplatform.end_upload_tb_log()  # uploads the remaining logs


if __name__ == "__main__":
    main()
