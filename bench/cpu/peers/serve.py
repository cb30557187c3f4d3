"""serve.py: prepares cases and takes turns, as the bench asks."""
import time


def loop(run, count):
    begin = time.perf_counter()
    for _ in range(count):
        run()
    return time.perf_counter() - begin


def take_turn(run, seconds):
    """Seconds per run. The first one warms caches, and tells how many there is time for."""
    once = loop(run, 1)
    if once >= seconds:
        return once
    runs = max(1, round(seconds / max(loop(run, 1), 1e-7)))
    return loop(run, runs) / runs


def results_of(run):
    results = run()
    return [signature(r) for r in (results if isinstance(results, (list, tuple)) else [results])]


class Server:
    def __init__(self):
        self.runs = {}

    def answer(self, request):
        if "threads" in request:
            return set_up(request["threads"], request["is_limited"])
        if "prepare" in request:
            return self.prepare(request["prepare"])
        bind(request["turn"] != "onnxruntime")
        return {"seconds": take_turn(self.runs[request["turn"]], request["seconds"])}

    def prepare(self, case):
        """A peer that cannot compute the case says why."""
        self.runs, results, failed = {}, {}, {}
        gc.collect()
        bind(False)
        if case["operation"] in OPERATIONS:
            inputs = [input_tensor(given, i + 1) for i, given in enumerate(case["inputs"])]
            self.runs = OPERATIONS[case["operation"]](case["options"], *inputs)
        for name, run in self.runs.items():
            try:
                results[name] = results_of(run)
            except Exception as e:
                failed[name] = str(e)
        return {"results": results, "failed": failed}


serve(Server().answer)
