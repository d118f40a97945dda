export const fileRoutes = [] as const
