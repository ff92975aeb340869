"""Machine judges: language models, rules, look-ups; asked at length, heeded for what they are worth."""
