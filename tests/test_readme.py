from tests.support import readme


def test_the_readme_shows_what_the_commands_print():
    assert readme.README.read_text("utf-8") == readme.written()
