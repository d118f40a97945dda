export const campaignRoutes = [] as const
