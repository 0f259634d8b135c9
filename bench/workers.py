# SPDX-License-Identifier: Apache-2.0
"""Processes that answer the requests of bench/serve.cpp, Tessera's and the peers'."""
import contextlib
import os
import pathlib
import signal
import subprocess

PEER_SCRIPTS = pathlib.Path(__file__).resolve().parent / "peers"


class WorkerError(Exception):
    pass


class Worker:
    """A process that answers the requests of bench/serve.cpp."""

    def __init__(self, command, threads):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
        # Bound to cores: two OpenMP threads that spin for one another on one core take milliseconds for microseconds.
        environment |= {"OMP_NUM_THREADS": str(threads), "OMP_PLACES": "cores", "OMP_PROC_BIND": "close",
                        "KMP_BLOCKTIME": "1", "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, env=environment)

    def ask(self, *request):
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write("\t".join(str(x) for x in request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise WorkerError("the worker ended") from None
        for line in self.process.stdout:  # libraries may print; answers begin with ok or error
            kind, _, text = line.rstrip("\n").partition("\t")
            if kind == "ok":
                return text
            if kind == "error":
                raise WorkerError(text)
        raise WorkerError("the worker ended")

    def times(self, repeats):
        """Seconds of each run. The process stands still afterwards, or its threads might spin during others' turns."""
        times = [float(t) for t in self.ask("run", repeats).split()]
        self.process.send_signal(signal.SIGSTOP)
        return times

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()


def peer_worker(folder, peer, threads):
    script = PEER_SCRIPTS / f"{peer}_worker.py"
    environment = "torch" if peer == "unfused" else peer
    return Worker([str(folder / environment / "bin" / "python"), str(script)], threads)


class Pool:
    """The workers of one number of threads; each is started when it is first asked for, and again after it ended."""

    def __init__(self, arguments, threads):
        self.arguments, self.threads, self.workers = arguments, threads, {}

    def get(self, name):
        if name not in self.workers or self.workers[name].process.poll() is not None:
            if name == "tessera":
                self.workers[name] = Worker([self.arguments.binary, "serve"], self.threads)
            else:
                self.workers[name] = peer_worker(self.arguments.folder, name, self.threads)
        return self.workers[name]

    def close(self):
        for worker in self.workers.values():
            worker.close()
