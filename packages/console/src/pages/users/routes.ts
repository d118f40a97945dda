export const userRoutes = [] as const
