"""GEODE's `session` verbs: its options, texts and exit codes (record contract §15), one file each.

They overwrite, delete and refuse as GEODE does; the work is done by the same functions as in our own verbs.
What GEODE prints goes to stdout, its texts for a refusal too; all else goes to stderr.
"""
