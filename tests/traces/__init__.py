"""Golden conversations: what servers say to each other in fixed schedules, as text that is compared."""
