"""Golden conversations: the messages between servers in fixed schedules, as text that is compared."""
