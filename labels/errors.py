"""The one exception for mistakes that the user can mend."""


class UserError(Exception):
    """A mistake of the user; its text says what is wrong, where, and what to do about it."""
