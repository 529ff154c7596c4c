"""What several rooms' tests share: fake secrets built at run time, and fixture cases made real."""
