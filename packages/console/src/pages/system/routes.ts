export const systemRoutes = [] as const
