import atexit, json, sys, threading

HERE = os.path.dirname(os.path.abspath(__file__))
REACHED = Reached(os.path.abspath(os.environ["MAGIS_ROOT"]))


def write():
    sys.settrace(None)
    with open(os.path.join(HERE, "%d.json" % os.getpid()), "w") as out:
        json.dump(REACHED.told(), out)


def own():
    """Loads the module of this name that Python would have found without this one."""
    this = sys.modules.pop(__name__)
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != HERE]
    try:
        __import__(__name__)
    except ImportError:
        sys.modules[__name__] = this


own()
atexit.register(write)
threading.settrace(REACHED.enter)
sys.settrace(REACHED.enter)
