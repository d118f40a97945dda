export const consentRoutes = [] as const
