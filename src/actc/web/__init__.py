"""The annotation page: a small server over a session, and plain files that the browser runs as they are."""
