export const webhookRoutes = [] as const
