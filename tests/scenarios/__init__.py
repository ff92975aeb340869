"""Ten scenarios: whole ways that users go, from the files they have to the files they get.

They are the net under every rebuilding of the inside. A scenario knows commands, files, routes of the page and names
of ``actc.__all__``, nothing else, so it stays as it is while modules, classes and private functions change. It asserts
what users rely on:

* thresholds of the paper's methods to 1e-9, and who is accepted by them;
* precision and recall against a truth that the scenario made itself, as bounds that a correct product keeps;
* names of files, columns and fields that other programs read;
* the same decisions from every engine.

A number is changed only by a commit that says why. All ten together take less than 45 seconds of processor time.
"""
