/** Times are integer milliseconds UTC inside and ISO 8601 with `Z` and milliseconds on the wire. */
export const toIso = (at: number): string => new Date(at).toISOString()

export const toIsoOrNull = (at: number | null): string | null => (at === null ? null : toIso(at))

export const dayMs = 86_400_000
