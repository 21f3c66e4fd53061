"""SPARQL clients that people use: SPARQLWrapper and rdflib's SPARQLStore."""

import urllib.error
import urllib.parse
import urllib.request

import pytest
from rdflib import Graph, Literal, URIRef
from rdflib.plugins.stores.sparqlstore import SPARQLStore
from SPARQLWrapper import CSV, GET, JSON, POST, POSTDIRECTLY, TSV, URLENCODED, XML, SPARQLExceptions, SPARQLWrapper

GENRES = """
SELECT ?genre ?score ?known WHERE {
  ?film r:stars "Martin Lawrence" ; r:has_genre ?genre .
} LIMIT 5
"""
COMEDY = "urn:relatum:e:Comedy"


def wrapper(server, query, form=JSON):
    client = SPARQLWrapper(f"{server}/sparql")
    client.setQuery(query)
    client.setReturnFormat(form)
    return client


@pytest.mark.parametrize(
    "method, request_method", [(GET, URLENCODED), (POST, URLENCODED), (POST, POSTDIRECTLY)]
)
def test_solutions_with_score_and_known_however_they_are_asked_for(server, method, request_method):
    client = wrapper(server, GENRES)
    client.setMethod(method)
    client.setRequestMethod(request_method)
    found = client.query().convert()
    assert found["head"]["vars"] == ["genre", "score", "known"]
    rows = found["results"]["bindings"]
    assert len(rows) == 5
    assert COMEDY in [row["genre"]["value"] for row in rows]
    assert rows[0]["genre"]["type"] == "uri"
    assert rows[0]["known"] == {
        "type": "literal",
        "value": "true",
        "datatype": "http://www.w3.org/2001/XMLSchema#boolean",
    }
    scores = [float(row["score"]["value"]) for row in rows]
    assert scores == sorted(scores, reverse=True) and 0 < scores[-1] <= scores[0] <= 1


def test_results_come_in_every_format(server):
    xml = wrapper(server, GENRES, XML).query().convert()
    assert len(xml.getElementsByTagName("result")) == 5
    csv = wrapper(server, GENRES, CSV).query().convert().decode()
    assert csv.splitlines()[0] == "genre,score,known" and COMEDY in csv
    tsv = wrapper(server, GENRES, TSV).query().convert().decode()
    assert tsv.splitlines()[0] == "?genre\t?score\t?known" and f"<{COMEDY}>" in tsv


def test_ask_says_whether_it_is_true(server):
    ask = 'ASK { ?film r:stars "Martin Lawrence" ; r:has_genre e:Comedy }'
    assert wrapper(server, ask).query().convert()["boolean"] is True
    false = 'ASK { e:Comedy r:stars "Martin Lawrence" }'
    assert wrapper(server, false).query().convert()["boolean"] is False


def test_what_is_not_supported_is_named_with_its_place(server):
    query = "SELECT ?film WHERE {\n  ?film r:has_genre e:Comedy .\n  OPTIONAL { ?film r:stars ?actor }\n}"
    with pytest.raises(SPARQLExceptions.QueryBadFormed) as refused:
        wrapper(server, query).query()
    said = str(refused.value)
    assert "OPTIONAL is not supported" in said and '\\"line\\":3' in said.replace('"line":3', '\\"line\\":3')


def test_rdflib_asks_through_its_store(server):
    graph = Graph(store=SPARQLStore(f"{server}/sparql", returnFormat="json"))
    rows = list(graph.query(GENRES))
    assert len(rows) == 5
    assert URIRef(COMEDY) in [row.genre for row in rows]
    assert rows[0].known == Literal(True)
    assert isinstance(rows[0].score.toPython(), float)
    assert bool(graph.query('ASK { ?f r:stars "Martin Lawrence" }')) is True


def test_a_get_without_a_query_describes_the_service(server):
    with urllib.request.urlopen(f"{server}/sparql") as response:
        described = Graph().parse(data=response.read(), format="turtle")
    service = URIRef("http://www.w3.org/ns/sparql-service-description#Service")
    assert [subject for subject in described.subjects(object=service)] == [URIRef(f"{server}/sparql")]


@pytest.mark.parametrize(
    "query, headers, status",
    [
        ("query=SELECT", {}, 400),
        ("query=" + urllib.parse.quote(GENRES), {"Accept": "image/png"}, 406),
        ("query=" + urllib.parse.quote(GENRES) + "&default-graph-uri=http://x", {}, 400),
        ("query=" + urllib.parse.quote("SELECT ?x { ?x r:stars e:a } LIMIT 100000"), {}, 400),
    ],
)
def test_requests_that_make_no_sense_are_refused(server, query, headers, status):
    request = urllib.request.Request(f"{server}/sparql?{query}", headers=headers)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code == status
    assert refused.value.headers["content-type"] == "application/problem+json"
