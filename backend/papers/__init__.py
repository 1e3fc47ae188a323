"""The papers for the page: their mechanisms, each with a simulated cluster that shows it, and their experiments."""
