"""The logo, three blocks: for the README, and as the icon of the site."""

LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect x="2" y="17" width="13" height="13" rx="2" fill="#2f6fb0"/>'
    '<rect x="17" y="17" width="13" height="13" rx="2" fill="#8f9ba8"/>'
    '<rect x="9.5" y="2" width="13" height="13" rx="2" fill="#dd7610"/></svg>'
)
