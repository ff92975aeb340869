"""All of it in a browser: projects, runs, people, decisions, files; delete the room and all else stands."""
