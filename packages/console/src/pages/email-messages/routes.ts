export const emailMessageRoutes = [] as const
