import pickle

import pytest

import gradband as gb
from gradband import _lib


def test_errors_say_what_and_where() -> None:
    with pytest.raises(gb.Error) as caught:
        _lib.fail("is wrong", "problem.prior.alpha[1]")
    assert str(caught.value) == "problem.prior.alpha[1]: is wrong"
    assert (caught.value.place, caught.value.message) == ("problem.prior.alpha[1]", "is wrong")
    assert isinstance(caught.value, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.place, again.message) == (caught.value.place, caught.value.message)
