export const developmentRoutes = [] as const
