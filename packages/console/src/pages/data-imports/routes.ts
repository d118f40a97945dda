export const dataImportRoutes = [] as const
