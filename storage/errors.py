"""One error base. A subclass exists only where a caller does something different with it."""


class NightkeeperError(Exception):
    """What went wrong, in one sentence a person can act on. Never holds text of a chat."""


class Busy(NightkeeperError):
    """Somebody else holds the lock; trying again later is the right answer."""


class StoreDamaged(NightkeeperError):
    """A store cannot be opened or read as it stands; `nightkeeper doctor` says more."""
