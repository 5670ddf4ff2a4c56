# The provider of versions.tf, as a build downloads it. With -lockfile=readonly, terraform
# init changes nothing here.
provider "registry.terraform.io/hashicorp/google" {
  version     = "7.45.0"
  constraints = "7.45.0"
  hashes      = ["zh:172c9e4902e9a01b1111bbbb9063a47804ec5f4207b2221df9c398239ff3b350", "zh:58dadd7b96b7b706e2995a04f356862be7cfd6b55f6257464c8b10986abf8efa", "zh:7230a5e49abed243317b9de0ee7fd365b4a2775b532a5d66006b39c4703978ac", "zh:fb1b9d1ea7bc79b7409f02aa7c19ba39afa22dbead69e83ae7eb2691ac5c2426"]
}
