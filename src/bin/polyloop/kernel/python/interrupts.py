# Interrupts: SIGINT raises KeyboardInterrupt in a cell, but not everywhere.

class Interrupts:
    """SIGINT raises KeyboardInterrupt in a cell, but never in the middle of a frame, and never between cells."""

    def __init__(self):
        self.is_wanted, self.held, self.is_pending = False, 0, False

    def handle(self, signum, frame):
        if self.held:
            self.is_pending = True
        elif self.is_wanted:
            raise KeyboardInterrupt

    def release(self):
        self.held -= 1
        if self.is_pending and not self.held:
            self.is_pending = False
            if self.is_wanted:
                raise KeyboardInterrupt


interrupts = Interrupts()


def without_interrupt(do):
    """Interrupts the cell only once this is done."""
    if get_ident() != MAIN_THREAD:
        return do()
    interrupts.held += 1
    try:
        return do()
    finally:
        interrupts.release()
