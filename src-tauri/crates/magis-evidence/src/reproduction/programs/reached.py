import dis, itertools, linecache, os


class Reached:
    """The functions of the project at `root` that a program enters, in that order, and which of their lines are never run."""

    # As many as are read: a list that is full is not taken for whole.
    MOST_FUNCTIONS = 1000
    # Lines that are followed; each costs time, and a loop runs many.
    MOST_LINES = 1000000

    def __init__(self, root):
        self.root, self.found, self.left, self.lines = root + os.sep, {}, {}, 0

    def enter(self, frame, event, argument):
        code = frame.f_code
        if code not in self.left:
            path = self.place_of(code.co_filename)
            # Bodies of modules and classes have no fast locals.
            is_function = code.co_flags & 1
            if path and is_function and len(self.found) < self.MOST_FUNCTIONS:
                self.found[code] = path
                self.left[code] = set(self.lines_of(code))
            else:
                self.left[code] = set()
        return self.run_line if self.left[code] and self.lines < self.MOST_LINES else None

    def run_line(self, frame, event, argument):
        left = self.left[frame.f_code]
        if event == "line":
            self.lines += 1
            left.discard(frame.f_lineno)
        return self.run_line if left and self.lines < self.MOST_LINES else None

    def place_of(self, path):
        """A file of the project relative to its root; none for anything else."""
        inside = path.startswith(self.root) and "site-packages" not in path
        return path[len(self.root):].replace(os.sep, "/") if inside else None

    def lines_of(self, code):
        # The first line is the definition's own, and a call is not seen to run it.
        return sorted({line for _, line in dis.findlinestarts(code) if line and line > code.co_firstlineno})

    def missed(self, code):
        """The lines that never ran, with those on which their statements go on."""
        missed = []
        begun = self.lines_of(code)
        for first, behind in zip(begun, begun[1:] + [0]):
            if first in self.left[code]:
                missed.append(first)
                missed.extend(itertools.takewhile(lambda line: not self.begins_block(code, line), range(first + 1, behind)))
        return missed

    def begins_block(self, code, line):
        """Whether a line without code of its own belongs to no statement before it."""
        return linecache.getline(code.co_filename, line).strip().startswith(("else", "finally", "try"))

    def told(self):
        followed = self.lines < self.MOST_LINES
        return [[path, code.co_firstlineno, code.co_name, self.missed(code) if followed else []] for code, path in self.found.items()]
