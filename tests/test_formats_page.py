from tests.support import formats_table


def test_the_page_lists_the_formats_that_are_read():
    assert formats_table.PAGE.read_text("utf-8") == formats_table.written()
