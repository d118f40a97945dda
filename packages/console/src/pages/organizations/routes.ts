export const organizationRoutes = [] as const
