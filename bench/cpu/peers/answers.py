"""answers.py: answers the bench, one line of JSON each."""
import gc


def bind(is_bound):
    """OpenMP's threads are bound to one processor each: two that met on one would wait for each
    other, as long as one looks for work. Others have threads of their own, which go where this one
    may."""
    os.sched_setaffinity(0, CPUS[:1] if is_bound else CPUS)


def serve(answer_to):
    # What libraries print must not come between answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    gc.disable()
    for line in sys.stdin:
        try:
            answer = json.dumps(answer_to(json.loads(line)), allow_nan=False)
        except Exception as e:  # the bench shows it
            answer = json.dumps({"error": f"{type(e).__name__}: {e}"})
        print(answer, file=answers, flush=True)
