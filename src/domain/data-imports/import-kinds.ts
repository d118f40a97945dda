/** What the rows of a file or the entries of a call are. */
export const importKinds = ['orders', 'customers'] as const
export type ImportKind = (typeof importKinds)[number]
