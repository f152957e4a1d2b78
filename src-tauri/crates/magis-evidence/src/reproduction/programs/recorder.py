import atexit, json, sys, threading

HERE = os.path.dirname(os.path.abspath(__file__))
REACHED = Reached(os.path.abspath(os.environ["MAGIS_ROOT"]))


def write(record):
    with open(os.path.join(HERE, "%d.json" % os.getpid()), "w") as out:
        json.dump(record, out)


def begin():
    # It stays where a process does not come to its end: then nobody knows what it entered.
    write(None)


def end():
    sys.settrace(None)
    write(REACHED.told())


def own():
    """Loads the module of this name that Python would have found without this one."""
    this = sys.modules.pop(__name__)
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != HERE]
    try:
        __import__(__name__)
    except ImportError:
        sys.modules[__name__] = this


own()
begin()
os.register_at_fork(after_in_child=begin)
atexit.register(end)
threading.settrace(REACHED.enter)
sys.settrace(REACHED.enter)
