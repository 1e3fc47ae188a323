"""For all tests: property tests look at answers, not at how long a busy machine takes for them."""

from hypothesis import settings

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
