"""One error base. A subclass exists only where a caller does something different with it."""


class NightkeeperError(Exception):
    """What went wrong, in one sentence a person can act on. Never holds text of a chat."""


class BusyError(NightkeeperError):
    """Somebody else holds the lock; trying again later is the right answer."""


class StoreDamagedError(NightkeeperError):
    """A store cannot be opened or read as it stands; `nightkeeper doctor` says more."""
