export const fileStatuses = ['ready', 'quarantined'] as const

/** So much of a file tells its type. */
export const headBytes = 65_536
