// Owns the tests' transport: the same interface as the real one, answered from recorded data.
export {}
