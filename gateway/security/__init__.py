"""Who asks, and what they may: identities, their policies, tokens, TLS.

Place on the way of the data: between a gate and everything behind it. A gate asks a `Guard` who the
`Principal` of a request is, and hands the rights of the principal's `Policy` on with the request.
Sources: RFC 6749 (OAuth 2.0), RFC 7519 (JWT), SPARQL 1.1 SE protocol (SEPA's drafts).
"""
