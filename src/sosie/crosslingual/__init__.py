"""WHAT IF THE LANGUAGES DIFFER? Words translated, documents projected, twins found."""
