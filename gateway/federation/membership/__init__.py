"""Who is in a federation: certificates, the signed list of members, how one gets in and out."""
