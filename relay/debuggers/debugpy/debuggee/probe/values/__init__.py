"""Values as variables: their types, texts, contents and attributes, masked where they are secrets."""
