export const refundRoutes = [] as const
