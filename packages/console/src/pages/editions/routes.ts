export const editionRoutes = [] as const
