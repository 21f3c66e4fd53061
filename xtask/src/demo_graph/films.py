"""Prints the films of a bokeh-sampledata wheel as JSON, one array in the order of their ids.

The wheel is a zip file; sqlite3 reads only files, so the database is unpacked beside it.
"""

import hashlib
import json
import pathlib
import sqlite3
import sys
import zipfile

folder, sha256 = pathlib.Path(sys.argv[1]), sys.argv[2]
(wheel,) = folder.glob("*.whl")
database = zipfile.ZipFile(wheel).extract("bokeh_sampledata/_data/movies.db", folder)
found = hashlib.sha256(pathlib.Path(database).read_bytes()).hexdigest()
if found != sha256:
    sys.exit(f"movies.db of {wheel.name}: expected sha256 {sha256}, found {found}")

connection = sqlite3.connect(database)
connection.row_factory = sqlite3.Row
rows = connection.execute(
    """
    SELECT omdb.ID AS id, Title AS title, Year AS year, omdb.Rating AS rating, Genre AS genres,
           Director AS directors, Writer AS writers, "Cast" AS stars, Language AS languages,
           Country AS countries, Awards AS awards, Meter AS meter, Reviews AS reviews,
           BoxOffice AS box_office, Production AS companies
    FROM omdb JOIN tomatoes ON omdb.ID = tomatoes.ID
    ORDER BY omdb.ID
    """
)
json.dump([dict(row) for row in rows], sys.stdout)
