// Nothing: the target that precompiled headers are made for has to have a source.
