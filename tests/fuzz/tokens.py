"""What the languages of the parsers are made of: more than letters find."""


def _words(text: str, between: str = "") -> tuple[bytes, ...]:
    return tuple(f"{between}{word}{between}".encode() for word in text.split())


SPARQL = _words(
    """
    SELECT * WHERE { } ( ) OPTIONAL UNION MINUS FILTER EXISTS NOT BIND AS VALUES UNDEF GRAPH
    GROUP BY ORDER DESC HAVING LIMIT OFFSET DISTINCT COUNT SUM AVG MIN SAMPLE CONCAT REPLACE IF
    COALESCE IN && || ! = < + - * / | ^ ?s ?o <urn:p> 1 1.5e3 "x"@en 'a'^^<urn:t> _:b [] a ; , .
    INSERT DELETE DATA WITH USING NAMED CLEAR ALL DEFAULT COPY TO LOAD SILENT CONSTRUCT ASK
    DESCRIBE FROM PREFIX BASE NOW() \\u0041 << >> SERVICE STRDT GROUP_CONCAT SEPARATOR DROP
    CREATE
    """,
    " ",
)
RDF = _words(
    """
    @prefix @base . ; , [ ] ( ) <<( )>> _:b <urn:x> \"\"\" ' @en ^^ a true 1e9 \\u0000 \\U0010FFFF
    {| |}
    """,
    " ",
)
JSON = (
    *_words("""{ } [ ] : , " null true 1e999 -0 "\\ud800" \\u0000"""),
    *_words(
        """
        "@context" "@id" "@type" "@graph" "@value" "@list" "@reverse" "@container" "@vocab" "@base"
        "@import" "@nest" "@index" "@set" "@language" "@json" "@included" "@direction" "@protected"
        "@propagate" "@version" "@none"
        """
    ),
)
XML = _words(
    """
    < > /> </ &a; &amp; &#0; &#x10FFFF; <![CDATA[ ]]> <!-- <!DOCTYPE <!ENTITY 'x'> ]> rdf:about=
    rdf:nodeID= rdf:resource= rdf:parseType='Literal' rdf:parseType='Collection' rdf:ID= xml:base=
    xml:lang= rdf:li rdf:Description xmlns: rdf:datatype= <?xml?>
    """
)
PROFILE = (
    *JSON,
    *_words(
        """
        "host" "namespaces" "graphs" "updates" "queries" "sparql" "forcedBindings" "type" "literal"
        "uri" "bnode" "value" "datatype" "extended" "sparql11protocol" "port" "protocol" "path"
        "include" "oauth" "using-graph-uri" "due"
        """
    ),
    *SPARQL,
)
PATH = _words(
    """
    $ @ . .. [ ] [* ?( ) , : && || ! == != < <= > >= 'x' "a" 'b' -1 0 1.5e3 true null $.a[0] @.id
    @.v $.b [?@.id=='x'] [1:2:-1] length( count( value( match( search( '(a|b)*' '[' '\\u0041' *
    """
)
SENML = (*_words('"bn": "bt": "bu": "bv": "n": "u": "v": "vs": "vb": "vd": "s": "t":'), *JSON)
LINE_PROTOCOL = (
    *_words(
        r"""m,a=b t= , = \\ \, \= " 1 1i 1u -1.5e3 1e999 true F "x\"y" 1772436000000000000 -1 #"""
    ),
    *(b" ", b"\n", b"\r\n", b"\0", b"9" * 70),
)
ULTRALIGHT = _words("t| | # @ || 1 -0 1e999 null true 2016-06-13T00:35:30Z| t|1#t|2 d@c|x")
NGSI = (
    *_words(
        """
        "data":[ "subscriptionId":"1", "id":"E", "type":"T", "t":{"value": "metadata":{ "unitCode"
        "CEL" "TimeInstant" "dateModified" "location": {"type":"Point","coordinates":[ 181 -91
        """
    ),
    *JSON,
)
RUUVI = (
    *_words("""9904 FF 02010 1BFF990405 990406 9904E1 990403 8000 FFFF "data":" "ts":"""),
    *_words(""" "dataFormat":6, "CO2": "id": "temperature":null """),
    *JSON,
)
CBOR = (b"\x9f", b"\xbf", b"\xff", b"\xc2", b"\xc4\x82", b"\xf9\x7e\0", b"\xd8\x1c", b"\xd8\x1d\0")
MSGPACK = (b"\x90", b"\xdd\xff\xff\xff\xff", b"\xdf\0\1\0\0", b"\xc7\x0c\xff", b"\xc0", b"\xcb")
PROTOBUF = (b"\x12\5", b"\x08\xff", b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", b"\x3a\0")
FRAMES = (b"\x81\x80\0\0\0\0", b"\x82\xfe\xff\xff", b"\x88\x80\0\0\0\0", b"\0", b"\x89\xff", *JSON)
PACKETS = (
    b"\x10",
    b"\x30",
    b"\x32",
    b"\x36",
    b"\x82",
    b"\xa2",
    b"\xc0\0",
    b"\xe0\0",
    b"\0\4MQTT\4",
)
SEGMENT = (b'{"q":', b'"i":', b'"a":1', b"\n", b"null", b"1e999", b"\x1f\x8b\x08\0")

SENSORTHINGS = (
    *(b"$filter=", b"$expand=", b"$orderby=", b"$top=", b"$skip=", b"$select=", b"$count=true"),
    *(b" and ", b" or ", b"not ", b" eq ", b" gt ", b" add ", b" mod ", b"null", b"%27", b"''"),
    *(b"Datastreams", b"Observations(", b"/Thing/", b"result", b"phenomenonTime", b"st_within("),
    *(b"geography'POINT(1 2)'", b"duration'PT1H'", b"2026-03-02T07:00:00Z", b"now()", b"-", b";"),
)
