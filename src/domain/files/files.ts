export const fileStatuses = ['ready', 'quarantined'] as const
