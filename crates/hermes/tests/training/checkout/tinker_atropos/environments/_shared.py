"""Its name begins with a line, so it is no environment."""


class Shared(BaseEnv):
    pass
