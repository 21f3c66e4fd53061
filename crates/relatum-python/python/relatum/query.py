"""Questions written as Python expressions.

>>> from relatum import V, rel
>>> D, P = V("D P")
>>> q = rel.interacts(D, P) & (rel.assoc(P, "t1") | rel.assoc(P, "t2")) & ~rel.treats(D, "t3")
>>> print(q)
interacts(D, P) and (assoc(P, t1) or assoc(P, t2)) and not treats(D, t3)
>>> print(q.ask_for(D))
?D : exists P. interacts(D, P) and (assoc(P, t1) or assoc(P, t2)) and not treats(D, t3)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Union, overload

from . import _relatum
from .errors import OptionsError

__all__ = ["Formula", "Question", "V", "Variable", "exists", "rel"]


class Variable:
    """A variable of a question; make some with :func:`V`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a variable must be a str, not {type(name).__name__}")
        if not re.fullmatch(r"[^\W\d]\w*", name) or name.lower() in _KEYWORDS:
            raise OptionsError(f"the name of a variable must be a word such as D or P1, not {name!r}")
        self.name = name

    def __repr__(self) -> str:
        return f"V({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Variable) and other.name == self.name

    def __hash__(self) -> int:
        return hash((Variable, self.name))


_KEYWORDS = {"exists", "and", "or", "not", "select", "ask", "where"}

#: What may stand in an atom: a variable, or the name of an entity.
Term = Union[Variable, str]


# How many names a text holds is not known to a type checker: `Any` is what lets both `D = V("D")` and `D, P = V("D P")`
# pass.
@overload
def V(names: str) -> Any: ...
@overload
def V(names: str, *more: str) -> tuple[Variable, ...]: ...
def V(names: str, *more: str) -> Any:  # noqa: N802
    """The variable of a name, or several: ``D, P = V("D P")``.

    >>> V("D")
    V('D')
    >>> V("D P")
    (V('D'), V('P'))
    """
    if not isinstance(names, str):
        raise TypeError(f"V takes names in a str, not {type(names).__name__}")
    words = names.replace(",", " ").split()
    words.extend(more)
    if not words:
        raise OptionsError("V needs at least one name, as in V('D P')")
    variables = tuple(Variable(word) for word in words)
    return variables[0] if len(variables) == 1 else variables


class Formula:
    """A formula; join formulas with ``&``, ``|`` and ``~``."""

    __slots__ = ()
    #: How strongly the outermost connective binds: atoms and negations 3, ``and`` 2, ``or`` 1, ``exists`` 0.
    _strength = 3

    def __and__(self, other: Formula) -> Formula:
        return _Joined("and", _parts("and", self, _checked(other)))

    def __or__(self, other: Formula) -> Formula:
        return _Joined("or", _parts("or", self, _checked(other)))

    def __invert__(self) -> Formula:
        return _Not(self)

    def __bool__(self) -> bool:
        raise TypeError("join formulas with &, | and ~; `and`, `or` and `not` of Python cannot be used for that")

    def __repr__(self) -> str:
        return f"<Formula {self}>"

    def __str__(self) -> str:
        return self._text(self._names())

    def _text(self, variables: frozenset[str]) -> str:
        raise NotImplementedError

    def _free(self) -> Iterator[Variable]:
        """The variables that nothing binds yet, in the order of their first appearance."""
        raise NotImplementedError

    def _names(self) -> frozenset[str]:
        """The names of all variables, including bound ones: an entity of the same name is written in quotes."""
        raise NotImplementedError

    def _within(self, strength: int, variables: frozenset[str]) -> str:
        text = self._text(variables)
        return text if self._strength >= strength else f"({text})"

    def ask_for(self, target: Variable | str) -> Question:
        """The question which entities ``target`` can be. All other variables are bound by ``exists``."""
        if isinstance(target, str):
            target = Variable(target)
        if not isinstance(target, Variable):
            raise TypeError(f"the target must be a variable, not {type(target).__name__}")
        free = list(dict.fromkeys(self._free()))
        if target not in free:
            raise OptionsError(f"the target {target} is in no atom of: {self}")
        names = self._names() | {target.name}
        others = [variable.name for variable in free if variable != target]
        prefix = f"exists {', '.join(others)}. " if others else ""
        return Question(f"?{target} : {prefix}{self._text(names)}")

    def statement(self) -> Question:
        """The question whether the formula is true; its variables are bound by ``exists``."""
        free = [variable.name for variable in dict.fromkeys(self._free())]
        prefix = f"exists {', '.join(free)}. " if free else ""
        return Question(prefix + self._text(self._names()))


class Question(str):
    """The text of a question, as the engine, the command line and the server read it."""

    __slots__ = ()


def _checked(other: object) -> Formula:
    if not isinstance(other, Formula):
        raise TypeError(f"a formula is joined with formulas, not with {type(other).__name__}")
    return other


def _parts(word: str, left: Formula, right: Formula) -> tuple[Formula, ...]:
    def parts(of: Formula) -> tuple[Formula, ...]:
        return of._formulas if isinstance(of, _Joined) and of._word == word else (of,)

    return parts(left) + parts(right)


class _Atom(Formula):
    __slots__ = ("_relation", "_terms")

    def __init__(self, relation: str, terms: tuple[Term, Term]) -> None:
        self._relation = relation
        self._terms = terms

    def _text(self, variables: frozenset[str]) -> str:
        subject, object_ = (_term(term, variables) for term in self._terms)
        return f"{_name(self._relation, frozenset())}({subject}, {object_})"

    def _free(self) -> Iterator[Variable]:
        return (term for term in self._terms if isinstance(term, Variable))

    def _names(self) -> frozenset[str]:
        return frozenset(variable.name for variable in self._free())


class _Joined(Formula):
    __slots__ = ("_formulas", "_word")

    def __init__(self, word: str, formulas: tuple[Formula, ...]) -> None:
        self._word = word
        self._formulas = formulas

    @property
    def _strength(self) -> int:  # type: ignore[override]
        return 2 if self._word == "and" else 1

    def _text(self, variables: frozenset[str]) -> str:
        return f" {self._word} ".join(part._within(self._strength + 1, variables) for part in self._formulas)

    def _free(self) -> Iterator[Variable]:
        return (variable for part in self._formulas for variable in part._free())

    def _names(self) -> frozenset[str]:
        return frozenset().union(*(part._names() for part in self._formulas))


class _Not(Formula):
    __slots__ = ("_formula",)

    def __init__(self, formula: Formula) -> None:
        self._formula = formula

    def _text(self, variables: frozenset[str]) -> str:
        return f"not {self._formula._within(3, variables)}"

    def _free(self) -> Iterator[Variable]:
        return self._formula._free()

    def _names(self) -> frozenset[str]:
        return self._formula._names()


class _Exists(Formula):
    __slots__ = ("_bound", "_formula")
    _strength = 0

    def __init__(self, bound: tuple[Variable, ...], formula: Formula) -> None:
        self._bound = bound
        self._formula = formula

    def _text(self, variables: frozenset[str]) -> str:
        return f"exists {', '.join(map(str, self._bound))}. {self._formula._text(variables)}"

    def _free(self) -> Iterator[Variable]:
        return (variable for variable in self._formula._free() if variable not in self._bound)

    def _names(self) -> frozenset[str]:
        return self._formula._names()


def exists(variables: Variable | tuple[Variable, ...], formula: Formula) -> Formula:
    """Says that such things exist. It is needed only within a negation: other variables are bound by ``exists`` anyway.

    >>> D, P = V("D P")
    >>> print((rel.drug(D, "yes") & ~exists(P, rel.interacts(D, P) & rel.assoc(P, "t1"))).ask_for(D))
    ?D : drug(D, yes) and not (exists P. interacts(D, P) and assoc(P, t1))
    """
    bound = (variables,) if isinstance(variables, Variable) else tuple(variables)
    for variable in bound:
        if not isinstance(variable, Variable):
            raise TypeError(f"exists takes variables, not {type(variable).__name__}")
    return _Exists(bound, _checked(formula))


class Relation:
    """A relation by its name: called with two terms, it is an atom."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a relation must be a str, not {type(name).__name__}")
        self._name = name

    def __call__(self, subject: Term, object: Term, /) -> Formula:
        for term in (subject, object):
            if not isinstance(term, (Variable, str)):
                raise TypeError(
                    f"{self._name}(…) takes variables and names of entities (str), not {type(term).__name__}"
                )
        return _Atom(self._name, (subject, object))

    def __repr__(self) -> str:
        return f"rel[{self._name!r}]"


class _Relations:
    """All relations: ``rel.stars``, or ``rel["has genre"]`` if the name is not a Python identifier."""

    def __getattr__(self, name: str) -> Relation:
        if name.startswith("__"):
            raise AttributeError(name)
        return Relation(name)

    def __getitem__(self, name: str) -> Relation:
        return Relation(name)

    def __repr__(self) -> str:
        return "rel"


rel = _Relations()


def _name(name: str, variables: frozenset[str]) -> str:
    text = _relatum.name_text(name)
    # A quoted name is never a variable.
    return f'"{name}"' if text == name and name in variables else text


def _term(term: Term, variables: frozenset[str]) -> str:
    return term.name if isinstance(term, Variable) else _name(term, variables)
