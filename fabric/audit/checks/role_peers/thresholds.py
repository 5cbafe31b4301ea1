"""The thresholds of the comparison of role peers (FAB289) and of misspelled words (FAB2510)."""

MIN_PEERS = 2  # devices that agree: one alone is as likely to be wrong as the device that differs
MIN_ROLE_DEVICES = MIN_PEERS + 1  # two that agree, and one that differs
MIN_SIMILAR_OBJECTS = 4  # objects with one body that are a rule: two or three may be a pair, or those of one tenant
MAX_DIFFERENCES = 3  # of a device: an edit by hand makes one, and shows in few objects; another task makes many
MAX_OTHER_TASKS = 1  # kinds of objects that a device alone has, or lacks, where three or more devices agree
MAX_SECTION = 3  # statements: a larger section that is missing, and that nothing refers to, is a feature without a use here
MIN_SIMILARITY = 0.7  # share of equal forms of two devices of one role whose names have no numbers
MAX_SAMPLES = 32  # devices that the forms of a role are learnt from: more take longer and teach the same
MIN_USUAL = 5  # statements that make a word usual
MIN_LETTERS = 3  # of a usual word: names of two letters differ in one by chance
MAX_QUOTED = 90  # characters of a statement in a message
